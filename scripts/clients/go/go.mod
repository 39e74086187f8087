module matchfeed.example/matchfeed

go 1.23

require github.com/rabbitmq/amqp091-go v1.5.0
